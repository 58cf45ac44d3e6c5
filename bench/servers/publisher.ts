/** The service with one more mutation: it publishes to the topic of the counter, and stores nothing. */
import { mutation } from '../../src/platform/graphql/elements.ts'
import { serve } from '../support/serve.ts'

await serve(undefined, ({ topics }) => [
  mutation<{ count: number }>({
    name: 'publish',
    type: 'Boolean',
    args: { count: 'Int!' },
    access: 'public',
    async resolve({ count }) {
      await topics.publish('counter', { count })
      return true
    },
  }),
])

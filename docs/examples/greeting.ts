/** A page with a form, the example of docs/console.md. */
import { type FastifyInstance, field, html, OrEmpty, principalOf, type SendPage, Type } from 'latchkey/feature'

export const greetings: string[] = []
const config = { access: 'authenticated', docs: false } as const

export function addGreetingPage(app: FastifyInstance, { send }: { send: SendPage }): void {
  app.get('/greeting', { config }, (request, reply) =>
    send(request, reply, {
      title: 'Greeting',
      content: html`<section class="narrow card">
<h1>Hello, ${principalOf(request).name}</h1>
<form method="post" action="/console/greeting">
${field({ label: 'Your greeting', name: 'text', required: true })}
<button class="main">Send</button>
</form>
</section>`,
    }),
  )

  app.post('/greeting', { config, schema: { body: Type.Object({ text: OrEmpty }) } }, async (request, reply) => {
    greetings.push(request.body.text)
    return reply.redirect('/console/greeting', 303)
  })
}

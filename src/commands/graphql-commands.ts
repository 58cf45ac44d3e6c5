/** The graphql:* commands: their names, options and help. */
import { type Command, InvalidArgumentError } from 'commander'
import type { SocketOptions } from './graphql-ws.ts'
import type { Settings } from './settings.ts'

const socketsHelp = `
The command start serves sockets too. This is for a process of their own: it needs graphql.pubsub = redis to hear what
others publish. GET /health/live on its port tells that it is alive.`

export type Read = (options: { forService: boolean }) => Promise<Settings>

export function addGraphQLCommands(program: Command, read: Read): void {
  program
    .command('graphql:ws')
    .description('serve the WebSocket of GraphQL alone, until SIGTERM or SIGINT')
    .option('--host <host>', 'listen on this address instead of graphql.ws.host')
    .option('--port <port>', 'listen on this port instead of graphql.ws.port; 0 takes a free one', parsePort)
    .addHelpText('after', socketsHelp)
    .action(async (given: SocketOptions) => {
      const { serveSockets } = await import('./graphql-ws.ts')
      await serveSockets(given, await read({ forService: true }))
    })

  program
    .command('graphql:schema')
    .description('print the GraphQL schema in the schema definition language')
    .action(async () => {
      const { printGraphQLSchema } = await import('./graphql-schema.ts')
      await printGraphQLSchema(await read({ forService: false }))
    })
}

function parsePort(text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('must be a number from 0 to 65535')
}

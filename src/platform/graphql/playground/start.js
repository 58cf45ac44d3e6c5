/** Renders GraphiQL. Runs in the browser without a build step; React and GraphiQL are loaded before it. */
import { mendAlways } from './mend.js'
import { fetchAndCheck, withSession } from './session.js'
import { createSubscriber } from './subscriptions.js'

const { React, ReactDOM, GraphiQL } = globalThis

const startQuery = `# Ctrl-Enter runs the operation under the cursor.
# "Use my session" sends it as you. Another token
# goes into the headers below:
# { "Authorization": "Bearer ..." }

query Posts {
  posts {
    id
    title
    body
  }
}

mutation CreatePost {
  createPost(title: "Hello", body: "World")
}

# Tells how many posts there are whenever one is
# created, in another window for example.
subscription Counter {
  counter {
    count
  }
}
`

// Relative to the page, because a proxy may add a prefix.
const endpoint = new URL('graphql', location.href)
const socket = new URL(endpoint)
socket.protocol = endpoint.protocol === 'https:' ? 'wss:' : 'ws:'

/** The user's headers are sent with requests, and on sockets as the payload of connection_init. */
async function fetcher(operation, options) {
  const headers = await withSession(options?.headers)
  const wsClient = createSubscriber(socket.href, headers)
  const url = endpoint.href
  const send = GraphiQL.createFetcher({ url, wsClient, fetch: fetchAndCheck, enableIncrementalDelivery: false })
  return send(operation, { ...options, headers })
}

/** Local storage without headers: they contain tokens, which the query history would store. */
const storage = {
  getItem: (key) => localStorage.getItem(key),
  setItem: (key, value) => localStorage.setItem(key, withoutHeaders(value)),
  removeItem: (key) => localStorage.removeItem(key),
  clear: () => ownKeys().forEach((key) => void localStorage.removeItem(key)),
  get length() {
    return ownKeys().length
  },
}

function ownKeys() {
  return Object.keys(localStorage).filter((key) => key.startsWith('graphiql:'))
}

function withoutHeaders(value) {
  try {
    return JSON.stringify(JSON.parse(value), (key, part) => (key === 'headers' ? undefined : part))
  } catch {
    // Not JSON: most values are plain strings.
    return value
  }
}

/** That of the console. The system's if the page has none. */
const defaultTheme = /graphiql-(light|dark)/.exec(document.body.className)?.[1] ?? null

const root = document.getElementById('playground')
mendAlways(root)
ReactDOM.createRoot(root).render(
  React.createElement(
    GraphiQL,
    {
      fetcher,
      storage,
      shouldPersistHeaders: false,
      showPersistHeadersSettings: false,
      defaultQuery: startQuery,
      defaultTheme,
      // A phone has no room for them.
      defaultEditorToolsVisibility: matchMedia('(width < 45rem)').matches ? false : 'headers',
    },
    React.createElement(GraphiQL.Logo, null, 'Latchkey'),
  ),
)

/** Renders GraphiQL. Runs in the browser without a build step; React and GraphiQL are loaded before it. */
import { createSubscriber } from './subscriptions.js'

const { React, ReactDOM, GraphiQL } = globalThis

const startQuery = `# Ctrl-Enter runs the operation under the cursor.
# A token goes into the headers below:
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
function fetcher(operation, options) {
  const wsClient = createSubscriber(socket.href, options?.headers)
  const fetch = GraphiQL.createFetcher({ url: endpoint.href, wsClient, enableIncrementalDelivery: false })
  return fetch(operation, options)
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

ReactDOM.createRoot(document.getElementById('playground')).render(
  React.createElement(
    GraphiQL,
    {
      fetcher,
      storage,
      shouldPersistHeaders: false,
      showPersistHeadersSettings: false,
      defaultQuery: startQuery,
      defaultEditorToolsVisibility: 'headers',
    },
    React.createElement(GraphiQL.Logo, null, 'Latchkey'),
  ),
)

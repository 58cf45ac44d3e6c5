/**
 * The values of `node:http` that we use. An `import` of that module reads all its exports, and some of them load Node's whole
 * implementation of fetch: 3 MB in each thread.
 */
import type http from 'node:http'

export const { Agent, createServer, request, STATUS_CODES } = process.getBuiltinModule('node:http')
export type Agent = http.Agent

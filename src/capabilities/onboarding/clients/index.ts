/** The door of clients for commands: the lines that connect them, and where to look when no call arrives. */

export type { Client } from './client.ts'
export { adviceFor, baseUrlOf, clients, linesOf } from './clients.ts'

export { type Ask, type AskReply, ToolFault } from './ask.ts'
export { mcpRoutes } from './mcp.ts'
export { serveStdio } from './stdio.ts'

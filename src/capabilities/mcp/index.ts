export { type Ask, ToolFault } from './ask.ts'
export { mcpRoutes } from './mcp.ts'
export { serveStdio } from './stdio.ts'

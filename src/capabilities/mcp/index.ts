export { type Ask, ToolFault } from './ask.ts'
export { mcpRoutes, serveStdio } from './mcp.ts'

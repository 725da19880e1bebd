import type { Command } from '../command.ts'

/** `looptrace mcp`: the tools of the Model Context Protocol for an editor or a coding agent. */
export const mcpCommand: Command = {
  words: 'mcp',
  summary: 'Serves tools that read a project to an editor or agent, by MCP',
  synopsis: '',
  about: [
    'Reads messages of the Model Context Protocol (MCP) from standard input and writes answers to standard\n' +
      'output; editors and coding agents start it. Its tools only read: tasks, why they failed, steps, traces, incidents, queries.',
    'Reads the API at LOOPTRACE_URL with the key in LOOPTRACE_API_KEY, which needs the scopes tasks:read and\n' +
      'traces:read, and incidents:read for incidents. Without a key, it uses LOOPTRACE_ACCESS_TOKEN, and\n' +
      'LOOPTRACE_PROJECT_ID for the project. A server answers the same tools at /mcp.',
  ],
  options: {},
  words_min: 0,
  words_max: 0,
  examples: [{ command: 'looptrace mcp', about: 'in the configuration of an editor' }],
  statuses: {
    0: 'The client closed the connection.',
    2: 'The command line or a setting is invalid.',
  },
  load: async () => (await import('./mcp.ts')).mcp,
}

import type { Command } from '../command.ts'

/** `looptrace mcp`: the tools of the Model Context Protocol for an editor or a coding agent. */
export const mcpCommand: Command = {
  words: 'mcp',
  summary: 'Serves tools that read a project to an editor, over the Model Context Protocol',
  synopsis: '',
  about: [
    'Reads messages of the protocol from standard input and writes answers to standard output, as editors and\n' +
      'coding agents start it. Its tools only read: tasks, why they failed, steps, traces, incidents, queries.',
    'Reads the API at LOOPTRACE_URL with the key in LOOPTRACE_API_KEY, which needs the scopes tasks:read and\n' +
      'traces:read, and incidents:read for incidents. Without a key, it uses LOOPTRACE_ACCESS_TOKEN, and\n' +
      'LOOPTRACE_PROJECT_ID for the project. A server answers the same tools at /mcp.',
  ],
  options: {},
  words_min: 0,
  words_max: 0,
  examples: [
    { command: 'claude mcp add looptrace -- looptrace mcp', about: 'the tools in Claude Code' },
  ],
  statuses: {
    0: 'The client closed the connection.',
    2: 'The command line or a setting is invalid.',
  },
  load: async () => (await import('./mcp.ts')).mcp,
}

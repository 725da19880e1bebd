import { type Command, outputOption } from '../command.ts'

/** `looptrace connect`: the lines that point a client at Looptrace. */
export const connectCommand: Command = {
  words: 'connect',
  summary: 'Prints the lines that send the calls of a client through Looptrace',
  synopsis: '[client] [options]',
  about: [
    'Prints the lines to paste, with the URL of the proxy in LOOPTRACE_PROXY_URL (default: LOOPTRACE_URL). Without a\n' +
      'client it lists all of them. The lines read the project key from the variable LOOPTRACE_API_KEY.',
    '--check waits until a model call of the project arrives, and says whether the provider answered it. If none\n' +
      'arrives, it says what to look at. It needs LOOPTRACE_API_KEY with the scope tasks:read, and sends no call.',
  ],
  options: {
    'show-key': {
      about: 'Print the key of LOOPTRACE_API_KEY in the lines, in place of the variable.',
    },
    check: { about: 'Wait for a call, and exit with status 1 unless one arrives and is answered.' },
    wait: { value: '<seconds>', about: 'Time that --check waits, 1–3600. Default: 120.' },
    output: outputOption,
  },
  words_min: 0,
  words_max: 1,
  examples: [
    { command: 'looptrace connect', about: 'all clients' },
    { command: 'looptrace connect claude-code', about: 'the lines for Claude Code' },
    { command: 'looptrace connect openai-python --check', about: 'and wait for the first call' },
    {
      command: 'looptrace connect codex --show-key -o json',
      about: 'for a script that writes the file',
    },
  ],
  statuses: {
    0: 'The lines were printed; with --check, a call arrived and was answered.',
    1: 'With --check: no call arrived, or the provider refused it.',
    2: 'The command line or a setting is invalid, or there is no such client.',
    3: 'With --check: the API stopped answering.',
  },
  load: async () => (await import('./connect.ts')).connect,
}

import { type Command, outputOption } from './command.ts'

/** `looptrace doctor`: what is set up, and the command for what is missing. */
export const doctorCommand: Command = {
  words: 'doctor',
  summary: 'Checks an installation, with a command for each missing step',
  synopsis: '[options]',
  about: [
    'Checks that the API at LOOPTRACE_URL and the proxy at LOOPTRACE_PROXY_URL (default: LOOPTRACE_URL) answer,\n' +
      'the key in LOOPTRACE_API_KEY with its scopes, and the clocks; then what the service reports about the\n' +
      'project: keys, calls, tasks, verdicts, rules, channels, retention and more. It sends no call. The key needs\n' +
      'the scope tasks:read.',
  ],
  options: {
    strict: { about: 'Exit with status 1 also when a recommended check is not done.' },
    output: outputOption,
  },
  words_min: 0,
  words_max: 0,
  examples: [
    { command: 'looptrace doctor', about: 'one list, each missing check with its command' },
    { command: 'looptrace doctor --strict -o json', about: 'in a script' },
  ],
  statuses: {
    0: 'All required checks are done.',
    1: 'A required check is not done; with --strict, any check.',
    2: 'The command line or a setting is invalid.',
  },
  load: async () => (await import('./doctor.ts')).doctor,
}

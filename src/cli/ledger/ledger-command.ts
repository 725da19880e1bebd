import type { Command } from '../command.ts'
import { outputOption } from '../output-option.ts'

/** `looptrace ledger`: the balance of a project. */
export const ledgerCommand: Command = {
  words: 'ledger',
  summary: 'Shows what became of everything that a project sent',
  synopsis: '[options]',
  about: [
    'accepted = stored + rejected + pending + lost, for every way in. It asks the API at LOOPTRACE_URL with\n' +
      'the project key in LOOPTRACE_API_KEY, which needs the scope traces:read or query:run.',
  ],
  options: {
    from: { value: '<time>', about: 'Requests that came at or after this; a day before --to.' },
    to: { value: '<time>', about: 'Requests that came before this; now when left out.' },
    path: { value: '<way in>', about: 'Requests of one way in: proxy, otlp or api.' },
    output: outputOption,
  },
  words_min: 0,
  words_max: 0,
  examples: [
    { command: 'looptrace ledger', about: 'the last day' },
    {
      command: 'looptrace ledger --from 2026-03-01T00:00:00Z --to 2026-03-02T00:00:00Z',
      about: 'one day in March',
    },
    { command: 'looptrace ledger -o json', about: 'with reasons, for another program' },
  ],
  statuses: {
    0: 'Nothing is lost.',
    1: 'Something is lost.',
    2: 'The command line or a setting is wrong, or the API refuses a value.',
    3: 'The API gives no answer, or refuses the key.',
  },
  load: async () => (await import('./ledger.ts')).ledger,
}

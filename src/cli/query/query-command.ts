import type { Command } from '../command.ts'
import { aboutCredentials, readStatuses } from '../list-options.ts'
import { pages_max } from '../project-api.ts'

/** `looptrace query`: the query language of the API. */
export const queryCommand: Command = {
  words: 'query',
  summary: 'Runs or explains a query over records, tasks and findings',
  synopsis: '[query | --file <path> | --saved <name>] [options]',
  about: [
    'The query is an object in JSON or YAML, as in docs/guides/query.md; with `measures` it is an aggregate. It is\n' +
      'an argument, a file, or with --file - the standard input. --last, --from and --to set its window.\n' +
      '--saved runs a saved query by its name or id, with --param for its parameters.',
    aboutCredentials('traces:read or query:run'),
  ],
  options: {
    file: { short: 'f', value: '<path>', about: 'A file with the query, or - for standard input.' },
    saved: { value: '<name>', about: 'Name or id of a saved query.' },
    param: {
      value: '<name=value>',
      multiple: true,
      about: 'A parameter of the saved query; the value is JSON, or else text.',
    },
    last: { value: '<duration>', about: 'Window that ends now, such as 15m, 24h or 7d.' },
    from: { value: '<time>', about: 'Start of the window, or age such as 2h.' },
    to: { value: '<time>', about: 'End of the window, or age. Default: now.' },
    explain: {
      about: 'Print store, statement, estimate and warnings instead of running the query.',
    },
    limit: { value: '<n>', about: 'Maximum rows, in place of that of the query.' },
    cursor: {
      value: '<cursor>',
      about: 'Start of the page: the cursor that the page before ends with.',
    },
    all: { about: `Read all pages, up to ${pages_max}.` },
    output: {
      short: 'o',
      value: '<form>',
      choices: ['table', 'json', 'csv'],
      about: 'Output format; `json` is the answer of the API. Default: table.',
    },
  },
  words_min: 0,
  words_max: 1,
  examples: [
    { command: `looptrace query '{"entity":"tasks"}' --last 24h`, about: 'a query as an argument' },
    { command: 'looptrace query -f cost-by-model.yaml --last 7d -o csv', about: 'for a sheet' },
    { command: 'looptrace query -f slow-calls.json --explain', about: 'what it would read' },
    {
      command: 'looptrace query --saved cost-of-a-user --param user=u-1',
      about: 'a saved query with a parameter',
    },
  ],
  statuses: readStatuses,
  load: async () => (await import('./query.ts')).query,
}

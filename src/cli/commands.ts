import { type Command, outputOption } from './command.ts'

/** `looptrace get`: resources of our kinds with what they say of themselves. */
const getCommand: Command = {
  words: 'get',
  summary: 'Lists resources of a cluster with Ready, reason and message',
  synopsis: '[kind [name]] [options]',
  about: [
    'All kinds, or one by its kind, plural or short name. The cluster and the namespace are those of the\n' +
      'current kube context (KUBECONFIG, else ~/.kube/config).',
  ],
  options: {
    namespace: { short: 'n', value: '<name>', about: 'Of this namespace.' },
    'all-namespaces': { short: 'A', about: 'Of all namespaces.' },
    selector: { short: 'l', value: '<labels>', about: 'Only with these labels: `team=search`.' },
    wide: { about: 'Columns that say more, and messages in full.' },
    ready: { about: 'Exit status 1 unless there is one and each is Ready.' },
    output: outputOption,
  },
  words_min: 0,
  words_max: 2,
  examples: [
    { command: 'looptrace get -A', about: 'everything that there is' },
    { command: 'looptrace get retpol -n search', about: 'policies of a namespace' },
    { command: 'looptrace get -l team=search --ready', about: 'in a script that waits for Ready' },
    { command: 'looptrace get ltsa checkout -o yaml', about: 'one resource as it is' },
  ],
  statuses: {
    0: 'They were listed.',
    1: 'With --ready: one is not Ready, or there is none.',
    2: 'The command line is wrong.',
    3: 'The cluster gives no answer, does not know the kind or does not allow it.',
  },
  load: async () => (await import('./get.ts')).get,
}

/** `looptrace explain`: the reference of a kind in a terminal. */
const explainCommand: Command = {
  words: 'explain',
  summary: 'Tells what a kind or one of its fields means, without a cluster',
  synopsis: '<kind>[.field.path] [options]',
  about: [
    'The kind is a kind, plural or short name, the path as in a resource; lists have no index in it. Types,\n' +
      'defaults, bounds and rules are those of the CRD of this version.',
  ],
  options: {
    recursive: { about: 'All fields below it too, without what they mean.' },
    output: outputOption,
  },
  words_min: 1,
  words_max: 1,
  examples: [
    { command: 'looptrace explain retpol', about: 'what a RetentionPolicy declares' },
    { command: 'looptrace explain retpol.spec.archive', about: 'one of its sections' },
    { command: 'looptrace explain ltsa --recursive', about: 'all fields at a glance' },
    { command: 'looptrace explain ltsa.spec.keys -o json', about: 'its schema' },
  ],
  statuses: { 0: 'It was told.', 2: 'There is no such kind or field.' },
  load: async () => (await import('./explain.ts')).explain,
}

/** `looptrace lint`: a linter for resources, made for CI. */
const lintCommand: Command = {
  words: 'lint',
  summary: 'Checks resources in YAML or JSON files, without a cluster',
  synopsis: '-f <file|folder|-> [options]',
  about: [
    'Finds what the API server would refuse (schema, rules in CEL, names, unknown fields), what the\n' +
      'operator would refuse, and two resources of one name in a folder, each with file, line and column.\n' +
      'Rules that compare with what is in the cluster (`oldSelf`) are not asked. Resources of other kinds\n' +
      'are passed over and counted. Folders are read with all below them: *.yaml, *.yml and *.json.',
  ],
  options: {
    filename: {
      short: 'f',
      value: '<path>',
      multiple: true,
      about: 'A file, a folder, or - for the standard input.',
    },
    strict: { about: 'Warnings count as findings too.' },
    output: outputOption,
  },
  words_min: 0,
  words_max: 0,
  examples: [
    { command: 'looptrace lint -f policies/', about: 'everything in a folder' },
    {
      command: 'helm template my-release ./chart | looptrace lint -f - --strict',
      about: 'what a chart renders',
    },
    { command: 'looptrace lint -f policy.yaml -o json', about: 'findings for another program' },
  ],
  statuses: {
    0: 'Nothing was found.',
    1: 'There are findings.',
    2: 'The command line is wrong, or a file can not be read.',
  },
  load: async () => (await import('./lint/lint.ts')).lint,
}

/** `looptrace ledger`: the balance of a project. */
const ledgerCommand: Command = {
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

/** The commands that are no roles. */
export const cliCommands: readonly Command[] = [
  getCommand,
  explainCommand,
  lintCommand,
  ledgerCommand,
]

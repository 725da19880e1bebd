import { auditVerifyCommand } from './audit/verify-command.ts'
import { certifyCommand } from './certification/certify-command.ts'
import { verifyCommand } from './certification/verify-command.ts'
import { type Command, filenameOption, outputOption } from './command.ts'
import { connectCommand } from './connect/connect-command.ts'
import { doctorCommand } from './doctor-command.ts'
import { ackCommand, incidentsCommand, resolveCommand } from './incidents/incidents-commands.ts'
import { mcpCommand } from './mcp/mcp-command.ts'
import { queryCommand } from './query/query-command.ts'
import { applyCommand } from './rules/apply-command.ts'
import { tailCommand, taskCommand, tasksCommand } from './tasks/tasks-commands.ts'
import { traceCommand } from './traces/trace-command.ts'

/** `looptrace get`: resources with their status. */
const getCommand: Command = {
  words: 'get',
  summary: 'Lists resources of a cluster with Ready, reason and message',
  synopsis: '[kind [name]] [options]',
  about: [
    'Lists all kinds, or one kind by its kind, plural or short name. Cluster and namespace are those of the\n' +
      'current kube context (KUBECONFIG, else ~/.kube/config). Tasks, traces and incidents are not resources: `looptrace\n' +
      'tasks`, `looptrace trace` and `looptrace incidents` read them from the API.',
  ],
  options: {
    namespace: { short: 'n', value: '<name>', about: 'Only resources of this namespace.' },
    'all-namespaces': { short: 'A', about: 'Resources of all namespaces.' },
    selector: {
      short: 'l',
      value: '<labels>',
      about: 'Only resources with these labels: `team=search`.',
    },
    wide: { about: 'More columns, and full messages.' },
    ready: { about: 'Exit with status 1 unless resources are found and all are Ready.' },
    output: outputOption,
  },
  words_min: 0,
  words_max: 2,
  examples: [
    { command: 'looptrace get -A', about: 'all resources of all namespaces' },
    { command: 'looptrace get retpol -n search', about: 'policies of a namespace' },
    { command: 'looptrace get -l team=search --ready', about: 'in a script that waits for Ready' },
    { command: 'looptrace get ltsa checkout -o yaml', about: 'one resource as YAML' },
  ],
  statuses: {
    0: 'The resources were listed.',
    1: 'With --ready: a resource is not Ready, or no resource was found.',
    2: 'The command line is invalid.',
    3: 'The cluster does not answer, does not know the kind or denies access.',
  },
  load: async () => (await import('./get.ts')).get,
}

/** `looptrace explain`: the reference of a kind in the terminal. */
const explainCommand: Command = {
  words: 'explain',
  summary: 'Describes a kind or one of its fields, without a cluster',
  synopsis: '<kind>[.field.path] [options]',
  about: [
    'Takes a kind, plural or short name, and a path as in a resource, without list indexes. Types, defaults,\n' +
      'bounds and rules are those of the CRD of this version.',
  ],
  options: {
    recursive: { about: 'Print all nested fields, without descriptions.' },
    output: outputOption,
  },
  words_min: 1,
  words_max: 1,
  examples: [
    { command: 'looptrace explain retpol', about: 'the fields of a RetentionPolicy' },
    { command: 'looptrace explain retpol.spec.archive', about: 'one of its sections' },
    { command: 'looptrace explain ltsa --recursive', about: 'all fields at a glance' },
    { command: 'looptrace explain ltsa.spec.keys -o json', about: 'the schema of a field' },
  ],
  statuses: { 0: 'The description was printed.', 2: 'The kind or field does not exist.' },
  load: async () => (await import('./explain.ts')).explain,
}

/** `looptrace lint`: a linter for resources, for CI. */
const lintCommand: Command = {
  words: 'lint',
  summary: 'Checks resources in YAML or JSON files, without a cluster',
  synopsis: '-f <file|folder|-> [options]',
  about: [
    'Reports what the API server would refuse (schema, CEL rules, names, unknown fields), what the operator\n' +
      'would refuse, and duplicate resources in a folder, each with file, line and column. Rules that compare\n' +
      'with the object in the cluster (`oldSelf`) are not evaluated. Resources of other kinds are skipped and\n' +
      'counted. Folders are read recursively: *.yaml, *.yml and *.json.',
  ],
  options: {
    filename: filenameOption,
    strict: { about: 'Treat warnings as findings.' },
    output: outputOption,
  },
  words_min: 0,
  words_max: 0,
  examples: [
    { command: 'looptrace lint -f policies/', about: 'all resources in a folder' },
    {
      command: 'helm template my-release ./chart | looptrace lint -f - --strict',
      about: 'the output of a chart',
    },
    { command: 'looptrace lint -f policy.yaml -o json', about: 'findings as JSON' },
  ],
  statuses: {
    0: 'No findings.',
    1: 'Findings were reported.',
    2: 'The command line is invalid, or a file cannot be read.',
  },
  load: async () => (await import('./lint/lint.ts')).lint,
}

/** `looptrace ledger`: the completeness ledger of a project. */
const ledgerCommand: Command = {
  words: 'ledger',
  summary: 'Shows the outcome of all items that a project sent',
  synopsis: '[options]',
  about: [
    'For each ingest path, accepted = stored + rejected + pending + lost. Reads the API at LOOPTRACE_URL with\n' +
      'the project key in LOOPTRACE_API_KEY, which needs the scope traces:read or query:run.',
  ],
  options: {
    from: {
      value: '<time>',
      about: 'Requests received at or after this time. Default: a day before --to.',
    },
    to: { value: '<time>', about: 'Requests received before this time. Default: now.' },
    path: { value: '<path>', about: 'Requests of one ingest path: proxy, otlp or api.' },
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
    { command: 'looptrace ledger -o json', about: 'as JSON, with reasons' },
  ],
  statuses: {
    0: 'No items are lost.',
    1: 'Items are lost.',
    2: 'The command line or a setting is invalid, or the API refuses a value.',
    3: 'The API does not answer, or refuses the key.',
  },
  load: async () => (await import('./ledger.ts')).ledger,
}

/** `looptrace test`: tests of incident rules, without a service. */
const testCommand: Command = {
  words: 'test',
  summary: 'Runs tests of incident rules, without a service',
  synopsis: '<file|folder|-> … [options]',
  about: [
    'A test gives values of signals, in the notation of promtool, and expects states, severities and\n' +
      'messages at times. Rules are IncidentRules in YAML. They are evaluated by the functions that the service\n' +
      'calls. In folders, files that end with _test.yaml are run. Format: docs/reference/rule-tests.md.',
  ],
  options: {
    run: { value: '<regex>', about: 'Only tests whose name matches.' },
    output: {
      short: 'o',
      value: '<form>',
      choices: ['text', 'json', 'junit'],
      about: 'Output format. Default: text.',
    },
  },
  words_min: 1,
  words_max: 1_000,
  examples: [
    { command: 'looptrace test rules/', about: 'all tests in a folder' },
    {
      command: 'looptrace test ttft_test.yaml --run "deploy"',
      about: 'the tests of a file with a word in their name',
    },
    { command: 'looptrace test rules/ -o junit > junit.xml', about: 'for CI' },
  ],
  statuses: {
    0: 'All tests pass.',
    1: 'A test fails.',
    2: 'The command line, a test file or a rule is invalid.',
  },
  load: async () => (await import('./rules/test-rules.ts')).testRules,
}

/** `looptrace rules backtest`: what rules would have done on stored rows. */
const backtestCommand: Command = {
  words: 'rules backtest',
  summary: 'Shows what incident rules would have done on stored rows',
  synopsis: '<file|folder|-> … [options]',
  about: [
    'Sends the IncidentRules of the files to the API, which evaluates them on stored rows. Nothing is changed\n' +
      'and no message is sent. Reads the API at LOOPTRACE_URL with the project key in LOOPTRACE_API_KEY, which\n' +
      'needs the scope incidents:read. Where retention has deleted rows, fewer days are evaluated.',
  ],
  options: {
    days: { value: '<days>', about: 'Days up to now, 1–28. Default: 14.' },
    'pages-max': {
      value: '<number>',
      about: 'Exit with status 1 if a rule has more pages a week.',
    },
    output: outputOption,
  },
  words_min: 1,
  words_max: 1_000,
  examples: [
    { command: 'looptrace rules backtest rules/', about: 'all rules in a folder, 14 days' },
    { command: 'looptrace rules backtest ttft.yaml --days 28', about: 'one rule, four weeks' },
    {
      command: 'looptrace rules backtest rules/ --pages-max 5',
      about: 'in CI: fail if a rule would page more than five times a week',
    },
  ],
  statuses: {
    0: 'The rules were evaluated.',
    1: 'With --pages-max: a rule has more pages a week.',
    2: 'The command line, a rule or a setting is invalid.',
    3: 'The API does not answer, or refuses the key.',
  },
  load: async () => (await import('./rules/backtest.ts')).backtest,
}

/** `looptrace trust recompute`: a trust score from its evidence. */
const recomputeCommand: Command = {
  words: 'trust recompute',
  summary: 'Computes the trust score of a verification again from its evidence',
  synopsis: '--run <id> | --trace <id> | --file <run.json> [options]',
  about: [
    'Compares the stored score with one that is computed from the stored results of the verifiers and the\n' +
      'calibrations of the run. All numbers must be equal, bit for bit. --run and --trace ask the API at\n' +
      'LOOPTRACE_URL, with the key of a service account in LOOPTRACE_API_KEY, which needs the scope\n' +
      'verification:run or traces:read.',
    '--file needs no service: it reads the reply of GET /api/v1/verification/runs/{run_id}/export. With --source,\n' +
      'each quote is compared with the text of its source: a source is found by its SHA-256, and a quote must\n' +
      'be at its offsets. The answer is a source too: each claim must be at its offsets.',
  ],
  options: {
    run: { value: '<id>', about: 'A run.' },
    trace: { value: '<id>', about: 'The newest run of a trace.' },
    file: { short: 'f', value: '<path>', about: 'An exported run, or - for standard input.' },
    source: {
      value: '<path>',
      multiple: true,
      about: 'With --file: a text that the run quotes, or a folder of them.',
    },
    output: outputOption,
  },
  words_min: 0,
  words_max: 0,
  examples: [
    {
      command: 'looptrace trust recompute --trace 0199fa1c-9f5e-7c7e-8c65-2f1d3a4b5c6d',
      about: 'the newest run of a trace',
    },
    {
      command: 'looptrace trust recompute --file run.json --source documents/',
      about: 'an exported run with the texts that it quotes, without a service',
    },
  ],
  statuses: {
    0: 'The score is identical, and each quote is in its source.',
    1: 'A number differs, or a quote is not in its source.',
    2: 'The command line, the file or a setting is invalid, or the trace is not verified.',
    3: 'The API does not answer, refuses the key, or does not have the run.',
  },
  load: async () => (await import('./trust/recompute.ts')).recompute,
}

/** The commands other than the roles. */
export const cliCommands: readonly Command[] = [
  getCommand,
  explainCommand,
  lintCommand,
  testCommand,
  backtestCommand,
  applyCommand,
  connectCommand,
  doctorCommand,
  tasksCommand,
  taskCommand,
  traceCommand,
  tailCommand,
  queryCommand,
  incidentsCommand,
  ackCommand,
  resolveCommand,
  ledgerCommand,
  mcpCommand,
  recomputeCommand,
  certifyCommand,
  verifyCommand,
  auditVerifyCommand,
]

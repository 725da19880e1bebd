import { type Command, filenameOption, outputOption } from '../command.ts'

/** `looptrace rules apply`: the rules of a project from files, without a cluster. */
export const applyCommand: Command = {
  words: 'rules apply',
  summary: 'Makes the incident rules of a project those of files, without a cluster',
  synopsis: '-f <file|folder|-> [options]',
  about: [
    'Compares the IncidentRules of the files with those of the project, creates and changes rules, and prints\n' +
      'each difference. Rules that a Kubernetes resource declares are not touched: if one differs, nothing is\n' +
      'changed. A changed or deleted rule leaves its open incidents to people. Uses the API at LOOPTRACE_URL\n' +
      'with the access token of a project admin in LOOPTRACE_ACCESS_TOKEN, and the project LOOPTRACE_PROJECT_ID.',
  ],
  options: {
    filename: filenameOption,
    'dry-run': { about: 'Print the plan only; exit with status 1 if something would change.' },
    prune: { about: 'Delete rules that no file has and no Kubernetes resource declares.' },
    output: outputOption,
  },
  words_min: 0,
  words_max: 0,
  examples: [
    { command: 'looptrace rules apply -f rules/ --dry-run', about: 'the plan, in CI' },
    { command: 'looptrace rules apply -f rules/ --prune', about: 'the folder is all there is' },
  ],
  statuses: {
    0: 'The rules of the project are those of the files.',
    1: 'With --dry-run: something would change. A rule is declared by a Kubernetes resource.',
    2: 'The command line, a rule or a setting is invalid.',
    3: 'The API does not answer, or refuses the token or a change.',
  },
  load: async () => (await import('./apply.ts')).applyRules,
}

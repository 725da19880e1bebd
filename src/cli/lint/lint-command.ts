import type { Command } from '../command.ts'
import { outputOption } from '../output-option.ts'

/** `looptrace lint`: a linter for resources, made for CI. */
export const lintCommand: Command = {
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
  load: async () => (await import('./lint.ts')).lint,
}

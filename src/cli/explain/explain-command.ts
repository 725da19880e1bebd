import type { Command } from '../command.ts'
import { outputOption } from '../output-option.ts'

/** `looptrace explain`: the reference of a kind in a terminal. */
export const explainCommand: Command = {
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

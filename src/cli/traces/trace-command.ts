import { answerOption, type Command } from '../command.ts'
import { aboutCredentials, readStatuses } from '../list-options.ts'
import { treeOptions } from './tree-options.ts'

/** `looptrace trace`: the tree of a trace. */
export const traceCommand: Command = {
  words: 'trace',
  summary: 'Shows a trace as a tree with durations, tokens and costs',
  synopsis: '<id> [options]',
  about: [
    'The id is a UUID or 32 hex digits. Where nodes are left out, a line says how many, and the option that shows\n' +
      'them. Times are those of the clocks that recorded them, corrected where they differ.',
    aboutCredentials('traces:read or query:run'),
  ],
  options: { ...treeOptions, output: answerOption },
  words_min: 1,
  words_max: 1,
  examples: [
    { command: 'looptrace trace 0199fa1c9f5e7c7e8c652f1d3a4b5c6d', about: 'the upper five levels' },
    {
      command: 'looptrace trace 0199fa1c-9f5e-7c7e-8c65-2f1d3a4b5c6d --depth 20 --limit 500',
      about: 'a deep tree',
    },
  ],
  statuses: readStatuses,
  load: async () => (await import('./show-trace.ts')).showTrace,
}

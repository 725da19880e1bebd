import type { Command } from '../cli/index.ts'
import { loadConfig } from '../platform/config/index.ts'

/** `looptrace move`, which has its own statuses. Its code is imported when it runs. */
export const moveCommand: Command = {
  words: 'move',
  summary: 'Move the data of an embedded installation into the stores of a cluster',
  synopsis: '[--dry-run]',
  words_min: 0,
  words_max: 0,
  about: [
    'LOOPTRACE_DATA_DIRECTORY is the data folder of the embedded installation, which must be stopped.\n' +
      'The other settings are those of the cluster: its empty stores, and the same secret key. The\n' +
      'data folder is only read. A killed move continues with the next call.',
  ],
  options: { 'dry-run': { about: 'Print what would be moved, and change nothing.' } },
  examples: [
    { command: 'looptrace move --dry-run', about: 'check the settings, and count the rows' },
    { command: 'looptrace move', about: 'move everything, or continue' },
  ],
  statuses: {
    0: 'Everything was moved, now or before.',
    1: 'Refused or failed; the reason is printed. Nothing is lost: run it again.',
    2: 'The command line is invalid.',
    3: 'NATS is unavailable.',
  },
  load: async () => {
    const { moveData } = await import('./move.ts')
    return ({ flag }, { stop }) =>
      moveData(loadConfig('all'), { is_dry_run: flag('dry-run'), stop })
  },
}

import { z } from 'zod'
import { type Arguments, type Command, UsageError } from '../cli/index.ts'
import { loadConfig } from '../platform/config/index.ts'
import type { RepairAsked } from './repair.ts'

/** `looptrace repair`. Its code is imported when it runs. */
export const repairCommand: Command = {
  words: 'repair',
  summary: 'Find the owners and costs of stored records by the rules of today',
  synopsis: '[--project <id>] [--from <time>] [--to <time>] [--apply]',
  words_min: 0,
  words_max: 0,
  about: [
    'Spans that an earlier version stored may have the task, user or conversation of another span,\n' +
      'count a call twice, or lack tokens and costs. Without --apply nothing is changed, and the counts\n' +
      'of what would be are printed for each project, one JSON object per line. Safe to repeat, and\n' +
      'to run beside workers.',
    'Uses the stores of the settings of role `all`. Stop a service with embedded servers first,\n' +
      'because it locks the data folder. Archives are not changed.',
  ],
  options: {
    project: { value: '<id>', about: 'Only this project. Default: all projects.' },
    from: {
      value: '<time>',
      about: 'Only records that start at or after this instant (RFC 3339).',
    },
    to: { value: '<time>', about: 'Only records that start before this instant (RFC 3339).' },
    apply: { about: 'Change the stored records.' },
  },
  examples: [
    { command: 'looptrace repair', about: 'what would change' },
    { command: 'looptrace repair --from 2026-11-01T00:00:00Z --apply', about: 'change it' },
  ],
  statuses: {
    0: 'Everything was checked, and with --apply changed.',
    1: 'Failed; the reason is printed. Run it again.',
    2: 'The command line is invalid.',
    3: 'A store is unavailable.',
  },
  load: async () => {
    const { repair } = await import('./repair.ts')
    return (args, { stop }) => repair(loadConfig('all'), askedOf(args), stop)
  },
}

function askedOf({ flag, value }: Arguments): RepairAsked {
  const project_id = value('project')
  if (project_id !== undefined && !z.uuid().safeParse(project_id).success) {
    throw new UsageError(`--project: got "${project_id}", expected the id of a project (a UUID)`)
  }
  const from = instantOf('from', value('from'))
  const to = instantOf('to', value('to'))
  if (from !== undefined && to !== undefined && from >= to) {
    throw new UsageError('--from: expected an instant before --to')
  }
  return { project_id, from, to, is_applied: flag('apply') }
}

function instantOf(name: string, text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined
  if (z.iso.datetime({ offset: true }).safeParse(text).success) {
    return BigInt(Date.parse(text)) * 1_000_000n
  }
  throw new UsageError(`--${name}: got "${text}", expected an instant such as 2026-11-01T00:00:00Z`)
}

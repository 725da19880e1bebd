import { z } from 'zod'

/** What every kind's spec has; spread into its own `z.strictObject`. */
export const commonSpecFields = {
  suspend: z
    .boolean()
    .default(false)
    .describe('While true nothing is reconciled; what was made stays as it is.'),
  resyncPeriod: z
    .string()
    .max(8)
    .regex(/^[1-9][0-9]{0,4}(s|m|h)$/)
    .default('10m')
    .describe('How often the service is compared with the spec: `30s`, `10m`, `1h`.'),
  deletionPolicy: z
    .enum(['Delete', 'Retain'])
    .default('Delete')
    .describe('What becomes of it in the service when the resource is deleted.'),
}

const commonSpec = z.strictObject(commonSpecFields)
export type CommonSpec = z.output<typeof commonSpec>

/** The project that a resource is about: by its id, or by its name where that names just one. */
export const projectRefField = z
  .strictObject({
    id: z.uuid().max(36).optional().describe('The id of the project.'),
    name: z.string().min(1).max(100).optional().describe('The name of the project.'),
  })
  .describe('The project, by id or by name. It can not be changed.')
  .meta({
    'x-kubernetes-validations': [
      { rule: 'has(self.id) != has(self.name)', message: 'expected either id or name' },
      { rule: 'self == oldSelf', message: 'projectRef can not be changed: make a new resource' },
    ],
  })

const unit_ms = { s: 1_000, m: 60_000, h: 3_600_000 } as const

/** `30s`, `10m` and `1h` in milliseconds, as specs write them; anything else is 10 min. */
export function duration_ms(text: string): number {
  const [, count, unit] = /^([1-9][0-9]{0,4})([smh])$/.exec(text) ?? ['', '10', 'm']
  return Number(count) * unit_ms[unit as keyof typeof unit_ms]
}

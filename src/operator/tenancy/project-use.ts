import { z } from 'zod'

/** The grant that a resource uses; its grace is remembered for the time after the grant. */
const usedGrant = z.strictObject({
  name: z.string().max(253).describe('Name of the ProjectGrant.'),
  keys: z
    .int()
    .min(0)
    .max(1_000)
    .optional()
    .describe('Keys of the resource that count towards the maximum of the grant.'),
  revokeAfter: z.string().max(8).describe('Grace after the end of the grant, as in its spec.'),
})

/** The end of a grant. */
const withdrawal = z.strictObject({
  since: z.iso.datetime().describe('Time from which no grant allows the resource.'),
  revokeAt: z.iso
    .datetime()
    .describe('Time at which keys are revoked and objects released, unless a grant returns.'),
  revokedAt: z.iso.datetime().optional().describe('Time at which this was done.'),
})

/** Status fields of every kind with `projectRef`. Only the operator may write a status. */
export const projectStatus = z.strictObject({
  projectId: z.uuid().max(36).optional().describe('Id of the project that the resource uses.'),
  grant: usedGrant.optional().describe('ProjectGrant that allows the resource.'),
  withdrawal: withdrawal.optional().describe('Set while no ProjectGrant allows the resource.'),
})

export type ProjectStatus = z.output<typeof projectStatus>
export type Withdrawal = NonNullable<ProjectStatus['withdrawal']>

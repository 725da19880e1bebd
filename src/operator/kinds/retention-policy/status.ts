import { z } from 'zod'

/** Kubernetes' integers are int64; past this a JSON number is no longer exact. */
const count_max = 2 ** 53 - 2
const count = z.int().min(0).max(count_max)
const instant = z.iso.datetime()

/** What the service says of a project's retention, as it was last read. */
export const retentionPolicyStatus = z.strictObject({
  projectId: z.uuid().max(36).optional().describe('The project that projectRef names.'),
  appliedGeneration: count
    .optional()
    .describe('The generation of the spec that the service was last seen to follow.'),
  policyVersion: count.optional().describe('The version of the policy in the service.'),
  lastRun: z
    .strictObject({
      id: z.uuid().max(36).describe('Its job_id in the service.'),
      endTime: instant.describe('When it ended.'),
      state: z.enum(['succeeded', 'failed']).describe('How it ended.'),
      rowsDeleted: count.describe('Rows that it deleted.'),
      bytesDeleted: count.describe('Bytes on disk that those took, about.'),
    })
    .optional()
    .describe('The run of retention that ended last.'),
  rowsDeleted: count.optional().describe('Rows that all runs on record have deleted.'),
  bytesDeleted: count.optional().describe('Bytes on disk that those took, about.'),
  nextRunTime: instant.optional().describe('When retention runs next.'),
  nextArchiveTime: instant.optional().describe('When days are next archived on the schedule.'),
  heldCount: count
    .optional()
    .describe('What is held in the project: by this resource and by anybody else, each once.'),
  holds: z
    .array(
      z.strictObject({
        name: z.string().max(63).describe('The name in legalHolds.'),
        holdId: z.uuid().max(36).describe('Its hold_id in the service.'),
      }),
    )
    .max(100)
    .optional()
    .describe('The legal holds of this resource.')
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
  drift: z
    .strictObject({
      count: count.describe('Times that the service had been changed behind the resource’s back.'),
      lastTime: instant.optional().describe('When that was last put right.'),
    })
    .optional()
    .describe('Changes in the service that were put right.'),
})

export type RetentionPolicyStatus = z.output<typeof retentionPolicyStatus>

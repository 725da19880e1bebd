import { z } from 'zod'
import { keys_max } from './spec.ts'

/** Keys that one rotated key may have left behind, each in its overlap still. */
export const previousKeys_max = 8

const instant = z.iso.datetime()
const id = z.uuid().max(36)

const previousKey = z.strictObject({
  keyId: id.describe('Its id in the service.'),
  endsAt: instant.describe('When it ends.'),
})

/** What the service and the Secrets say of a service account, as they were last read. */
export const serviceAccountStatus = z.strictObject({
  projectId: id.optional().describe('The project that projectRef names.'),
  serviceAccountId: id.optional().describe('The id of the account in the service.'),
  keys: z
    .array(
      z.strictObject({
        name: z.string().max(63).describe('The name in spec.keys.'),
        keyId: id.describe('Its id in the service.'),
        prefix: z.string().max(20).describe('The public part of the key.'),
        secretName: z.string().max(253).describe('The Secret that holds it.'),
        createdAt: instant.describe('When it was made.'),
        rotatesAt: instant.optional().describe('When it is replaced.'),
        expiresAt: instant.optional().describe('When it ends by itself.'),
        previous: z
          .array(previousKey)
          .max(previousKeys_max)
          .optional()
          .describe('Keys that it replaced and that still work.'),
      }),
    )
    .max(keys_max)
    .optional()
    .describe('The keys that work and stand in their Secrets.')
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
})

export type ServiceAccountStatus = z.output<typeof serviceAccountStatus>
export type KeyStatus = NonNullable<ServiceAccountStatus['keys']>[number]

import { z } from 'zod'
import { keyScopes } from '../../../kernel/scopes.ts'
import { commonSpecFields, projectRefField } from '../../common-spec.ts'

/** Keys that one account may declare. */
export const keys_max = 16

const duration = z
  .string()
  .max(8)
  .regex(/^[1-9][0-9]{0,4}(s|m|h)$/)

const declaredKey = z
  .strictObject({
    name: z
      .string()
      .max(63)
      .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/)
      .describe('Tells the keys of this resource apart; the key in the service has this name too.'),
    secretName: z
      .string()
      .max(253)
      .regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/)
      .describe(
        'The Secret of this namespace that the key is written to. It is made; one that somebody else made is never overwritten.',
      ),
    secretKey: z
      .string()
      .max(253)
      .regex(/^[A-Za-z0-9._-]+$/)
      .default('api-key')
      .describe('The name of the value in the Secret.'),
    rotateAfter: duration
      .optional()
      .describe('The key is replaced when it is that old: `720h`. Left out: never.'),
    overlap: duration
      .optional()
      .describe(
        'How long the old key works on after a rotation. Left out: an hour, or half of rotateAfter where that is shorter.',
      ),
    expiresAfter: duration
      .optional()
      .describe(
        'The key ends when it is that old, even if nobody is there to rotate it. It holds for keys that are made from then on.',
      ),
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: "!has(self.rotateAfter) || duration(self.rotateAfter) >= duration('1m')",
        message: 'rotateAfter: expected at least 1m',
      },
      {
        rule: '!has(self.overlap) || (has(self.rotateAfter) && duration(self.overlap) < duration(self.rotateAfter))',
        message: 'overlap: expected rotateAfter too, and less than it',
      },
      {
        rule: '!has(self.expiresAfter) || (has(self.rotateAfter) && duration(self.expiresAfter) > duration(self.rotateAfter))',
        message: 'expiresAfter: expected rotateAfter too, and more than it',
      },
    ],
  })

/** What a LooptraceServiceAccount declares. */
export const serviceAccountSpec = z.strictObject({
  projectRef: projectRefField,
  displayName: z
    .string()
    .min(1)
    .max(100)
    .regex(/^\P{Cc}*$/u)
    .optional()
    .describe('Its name in the project, unique there. Left out: `namespace/name` of the resource.'),
  scopes: z
    .array(z.enum(keyScopes))
    .max(keyScopes.length)
    .describe('What its keys may do, each of them all of it.')
    .meta({ 'x-kubernetes-list-type': 'set' }),
  disabled: z
    .boolean()
    .default(false)
    .describe('While true its keys are refused; they stay in their Secrets.'),
  keys: z
    .array(declaredKey)
    .max(keys_max)
    .default([])
    .describe(
      'Its keys, each in a Secret of its own. Any other key of the account is revoked; a key that leaves this list is revoked and its Secret deleted.',
    )
    .meta({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      'x-kubernetes-validations': [
        {
          rule: 'self.all(a, self.exists_one(b, a.secretName == b.secretName))',
          message: 'expected a Secret of its own for each key',
        },
      ],
    }),
  ...commonSpecFields,
})

export type ServiceAccountSpec = z.output<typeof serviceAccountSpec>
export type DeclaredKey = ServiceAccountSpec['keys'][number]

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

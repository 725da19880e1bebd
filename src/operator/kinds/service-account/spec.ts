import { z } from 'zod'
import { keyScopes } from '../../../kernel/scopes.ts'
import {
  type Bounded,
  commonSpecFields,
  duration_ms,
  listByName,
  projectRefField,
} from '../../common-spec.ts'
import { documentOf, elsewhere, named } from '../../declared/document.ts'
import type { DesiredAccount } from './account/account-api.ts'
import { hasFreeSecretKeys, secretKeyRule, secretTemplate } from './secrets/secret-template.ts'

/** Maximum keys per resource. */
const keys_max = 16

const duration = z
  .string()
  .max(8)
  .regex(/^[1-9][0-9]{0,4}(s|m|h)$/)

/** Sentences of the rules, which the status repeats for a resource of an earlier version. */
const sentences = {
  rotateAfter: 'rotateAfter: expected 10m to 87600h',
  overlap: 'overlap: expected less than rotateAfter, which must be set',
  expiresAfter: 'expiresAfter: expected more than rotateAfter, which must be set',
  scopes: 'scopes: expected at least one scope',
} as const

const declaredKey = z
  .strictObject({
    name: z
      .string()
      .max(63)
      .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/)
      .describe('Name of the key, unique in this resource. Also its name in the service.'),
    secretName: z
      .string()
      .max(253)
      .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/)
      .describe(
        'Secret in this namespace for the key. The operator creates it, and never overwrites a Secret of another owner.',
      ),
    secretKey: z
      .string()
      .max(253)
      .regex(/^[A-Za-z0-9._-]+$/)
      .default('api-key')
      .describe('Data key of the value in the Secret.'),
    rotateAfter: duration
      .optional()
      .describe('Age at which the key is replaced, 10m to 87600h: `720h`. Default: never.'),
    overlap: duration
      .optional()
      .describe(
        'How long the old key stays valid after a rotation. Default: `1h`, or half of rotateAfter if that is shorter.',
      ),
    expiresAfter: duration
      .optional()
      .describe(
        'Age at which the key expires, even without a rotation. Applies to keys minted after the change.',
      ),
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: "!has(self.rotateAfter) || (duration(self.rotateAfter) >= duration('10m') && duration(self.rotateAfter) <= duration('87600h'))",
        message: sentences.rotateAfter,
      },
      {
        rule: '!has(self.overlap) || (has(self.rotateAfter) && duration(self.overlap) < duration(self.rotateAfter))',
        message: sentences.overlap,
      },
      {
        rule: '!has(self.expiresAfter) || (has(self.rotateAfter) && duration(self.expiresAfter) > duration(self.rotateAfter))',
        message: sentences.expiresAfter,
      },
    ],
  })

/** The spec of a LooptraceServiceAccount. */
export const serviceAccountSpec = z
  .strictObject({
    projectRef: projectRefField,
    displayName: named(
      z
        .string()
        .min(1)
        .max(100)
        .regex(/^\P{Cc}*$/u)
        .optional()
        .describe(
          'Name of the service account, unique in the project. Default: `namespace/name` of the resource.',
        ),
      'name',
    ),
    scopes: z
      .array(z.enum(keyScopes))
      .max(keyScopes.length)
      .describe('Permissions of every key of the account.')
      .meta({
        'x-kubernetes-list-type': 'set',
        'x-kubernetes-validations': [{ rule: 'self.size() > 0', message: sentences.scopes }],
      }),
    disabled: z
      .boolean()
      .default(false)
      .describe('Disables the keys without removing them from their Secrets.'),
    keys: elsewhere(
      z
        .array(declaredKey)
        .max(keys_max)
        .default([])
        .describe(
          'Keys of the account, each in a separate Secret. Any other key of the account is revoked. A key removed from this list is revoked and its Secret is deleted.',
        )
        .meta({
          ...listByName,
          'x-kubernetes-validations': [
            {
              rule: 'self.all(a, self.exists_one(b, a.secretName == b.secretName))',
              message: 'expected a different secretName for each key',
            },
          ],
        }),
    ),
    secretTemplate: elsewhere(secretTemplate.optional()),
    ...commonSpecFields,
  })
  .refine(hasFreeSecretKeys, secretKeyRule.message)
  .meta({ 'x-kubernetes-validations': [secretKeyRule] })

export type ServiceAccountSpec = z.output<typeof serviceAccountSpec>

/** Converts a spec to the account of the service. Keys and Secrets are planned apart. */
export const toAccount = documentOf<DesiredAccount>()(serviceAccountSpec)

export type DeclaredKey = ServiceAccountSpec['keys'][number]

/** Maximum replaced keys of one key that are still in their overlap. */
export const maxPreviousKeys = 8

const instant = z.iso.datetime()
const id = z.uuid().max(36)

const refusedSecret = z.strictObject({
  name: z.string().max(63).describe('Name of the key in spec.keys.'),
  secretName: z.string().max(253).describe('Secret that the API server refuses.'),
  message: z.string().max(1_000).describe('Reason of the API server.'),
  attempt: z
    .string()
    .max(64)
    .optional()
    .describe(
      'Digest of spec and Secret at an attempt that minted a key. No key is minted until one of them changes.',
    ),
})

export type RefusedSecret = z.output<typeof refusedSecret>

const previousKey = z.strictObject({
  keyId: id.describe('Id of the key in the service.'),
  endsAt: instant.describe('Time at which the key expires.'),
})

/**
 * The status of a LooptraceServiceAccount: the state last read from the service and the Secrets.
 */
export const serviceAccountStatus = z.strictObject({
  serviceAccountId: id.optional().describe('Id of the service account in the service.'),
  keys: z
    .array(
      z.strictObject({
        name: z.string().max(63).describe('Name of the key in spec.keys.'),
        keyId: id.describe('Id of the key in the service.'),
        prefix: z.string().max(20).describe('Public prefix of the key.'),
        secretName: z.string().max(253).describe('Secret that contains the key.'),
        createdAt: instant.describe('Time at which the key was minted.'),
        rotatesAt: instant.optional().describe('Time of the next rotation.'),
        expiresAt: instant.optional().describe('Time at which the key expires.'),
        previous: z
          .array(previousKey)
          .max(maxPreviousKeys)
          .optional()
          .describe('Replaced keys that are still valid.'),
      }),
    )
    .max(keys_max)
    .optional()
    .describe('Valid keys that are in their Secrets.')
    .meta(listByName),
  refusedSecrets: z
    .array(refusedSecret)
    .max(keys_max)
    .optional()
    .describe('Secrets that the API server refuses to store.')
    .meta(listByName),
})

export type ServiceAccountStatus = z.output<typeof serviceAccountStatus>
export type KeyStatus = NonNullable<ServiceAccountStatus['keys']>[number]

const minRotateAfter = '10m'
const maxRotateAfter = '87600h'

/**
 * Replaces durations beyond their bounds, which a resource of an earlier version may have, and
 * returns the sentences of the CRD's rules. An account without scopes stays as it is.
 */
export function boundServiceAccount(spec: ServiceAccountSpec): Bounded<ServiceAccountSpec> {
  const keys = spec.keys.map(boundKey)
  const warnings = keys.flatMap((key) => key.warnings)
  const noScopes = spec.scopes.length === 0 ? [sentences.scopes] : []
  if (warnings.length === 0) return { spec, warnings: noScopes }
  return {
    spec: { ...spec, keys: keys.map(({ key }) => key) },
    warnings: [...noScopes, ...warnings],
  }
}

function boundKey(declared: DeclaredKey): { key: DeclaredKey; warnings: string[] } {
  const { rotateAfter: declaredAge, overlap, expiresAfter, ...rest } = declared
  const rotateAfter = declaredAge && boundAge(declaredAge)
  const age_ms = rotateAfter === undefined ? undefined : duration_ms(rotateAfter)
  const isOverlapping =
    overlap === undefined || (age_ms !== undefined && duration_ms(overlap) < age_ms)
  const isExpiring =
    expiresAfter === undefined || (age_ms !== undefined && duration_ms(expiresAfter) > age_ms)
  const say = (sentence: string, applies: string) => `key ${declared.name}: ${sentence}; ${applies}`
  return {
    key: {
      ...rest,
      ...(rotateAfter !== undefined && { rotateAfter }),
      ...(overlap !== undefined && isOverlapping && { overlap }),
      ...(expiresAfter !== undefined && isExpiring && { expiresAfter }),
    },
    warnings: [
      ...(rotateAfter === declaredAge
        ? []
        : [say(sentences.rotateAfter, `${rotateAfter} applies`)]),
      ...(isOverlapping ? [] : [say(sentences.overlap, 'the default applies')]),
      ...(isExpiring ? [] : [say(sentences.expiresAfter, 'keys do not expire')]),
    ],
  }
}

function boundAge(age: string): string {
  if (duration_ms(age) < duration_ms(minRotateAfter)) return minRotateAfter
  return duration_ms(age) > duration_ms(maxRotateAfter) ? maxRotateAfter : age
}

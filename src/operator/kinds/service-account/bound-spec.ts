import { type Bounded, duration_ms } from '../../common-spec.ts'
import { type DeclaredKey, type ServiceAccountSpec, sentences } from './spec.ts'

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

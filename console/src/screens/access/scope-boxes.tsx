import type { KeyScope } from '../../api/schema.gen.d.ts'
import { CheckField } from '../../ui/fields.tsx'
import ui from '../../ui/ui.module.css'

/** The scopes of a key or account as check boxes. `allowed` limits them; null allows all. */
export function ScopeBoxes({
  chosen,
  onChange,
  allowed = null,
  fault,
}: {
  chosen: readonly KeyScope[]
  onChange: (scopes: KeyScope[]) => void
  allowed?: readonly KeyScope[] | null
  fault?: string | undefined
}) {
  return (
    <fieldset className={ui.choices}>
      <legend>Scopes</legend>
      {scopes.map(([scope, about]) => (
        <CheckField
          key={scope}
          label={`${scope}: ${about}`}
          checked={chosen.includes(scope)}
          disabled={allowed !== null && !allowed.includes(scope)}
          onChange={({ target }) =>
            onChange(target.checked ? [...chosen, scope] : chosen.filter((each) => each !== scope))
          }
        />
      ))}
      {allowed !== null && (
        <p className={ui.soft}>Other scopes are switched off by the limits of the project.</p>
      )}
      {fault !== undefined && <p className={ui.fault}>{fault}</p>}
    </fieldset>
  )
}

/** Scopes of keys, in the order of the form, with what they allow. */
const scopes: readonly (readonly [KeyScope, string])[] = [
  ['proxy:write', 'send model calls through the proxy'],
  ['proxy:provider_key', 'use the keys of providers that the service holds'],
  ['ingest:write', 'send spans and batches'],
  ['traces:read', 'read traces with their contents'],
  ['tasks:read', 'read tasks, findings and settings'],
  ['tasks:write', 'complete tasks'],
  ['feedback:write', 'send feedback'],
  ['query:run', 'run queries'],
  ['verification:run', 'verify answers'],
  ['incidents:read', 'read incidents'],
  ['incidents:write', 'answer incidents'],
  ['retention:write', 'run retention, holds and erasures'],
  ['access:read', 'read the project, its people and keys'],
  ['certification:run', 'certify releases'],
]

/** Scopes that a new key has at first: those of an application that sends traces. */
export const firstScopes: readonly KeyScope[] = ['proxy:write', 'ingest:write', 'tasks:write']

/** Returns the instant that is the given number of days from now; null for a key without an end. */
export function expiryIn(days: string, now_ms: number): string | null {
  const count = Number(days)
  return count > 0 ? new Date(now_ms + count * 86_400_000).toISOString() : null
}

/** Splits origins that are written on lines or with commas. */
export function splitOrigins(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean)
}

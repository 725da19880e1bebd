import type { KeyScope } from '../../api/schema.gen.d.ts'
import { CheckField } from '../../ui/fields.tsx'
import ui from '../../ui/ui.module.css'
import { scopes } from './scopes.ts'

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

import { type FormEvent, useState } from 'react'
import { faultsOf } from '../../api/problem.ts'
import type { KeyScope } from '../../api/schema.gen.d.ts'
import { serverNow } from '../../api/server-clock.ts'
import { useProject } from '../../session/project.ts'
import { AreaField, CheckField, faultAt, SelectField, TextField } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import { Fault } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { expiryIn, firstScopes, ScopeBoxes, splitOrigins } from './scope-boxes.tsx'

/** The fields of a new key. */
export type NewKey = {
  name: string
  scopes: KeyScope[]
  environment: string | null
  expires_at: string | null
  origins?: string[]
}

const expiries = [
  ['0', 'never'],
  ['7', 'in 7 days'],
  ['30', 'in 30 days'],
  ['90', 'in 90 days'],
  ['365', 'in a year'],
] as const

/** The fields of a new key. `scopes` are those that it can have at most; null: all. */
export function KeyForm({
  onCreate,
  allowed,
  hasOrigins,
}: {
  onCreate: (key: NewKey) => Promise<void>
  allowed?: readonly KeyScope[] | null
  hasOrigins?: boolean
}) {
  const [isBrowser, setBrowser] = useState(false)
  const [chosen, setChosen] = useState<KeyScope[]>(
    firstScopes.filter((each) => allowed?.includes(each) ?? true),
  )
  const [error, setError] = useState<unknown>()
  const [isRunning, setRunning] = useState(false)
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const values = new FormData(event.currentTarget)
    const text = (name: string) => String(values.get(name) ?? '')
    setRunning(true)
    setError(undefined)
    try {
      await onCreate({
        name: text('name'),
        scopes: isBrowser ? ['feedback:write'] : chosen,
        environment: text('environment') === '' ? null : text('environment'),
        expires_at: expiryIn(text('expiry'), serverNow()),
        ...(isBrowser && { origins: splitOrigins(text('origins')) }),
      })
    } catch (fault) {
      setError(fault)
      setRunning(false)
    }
  }
  const faults = faultsOf(error)
  return (
    <form className={ui.stack} onSubmit={(event) => void submit(event)}>
      <TextField label="Name" name="name" required fault={faultAt(faults, '/name')} />
      {hasOrigins === true && (
        <CheckField
          label="For pages in browsers: visitors can read the key, and it sends feedback only"
          checked={isBrowser}
          onChange={(event) => setBrowser(event.target.checked)}
        />
      )}
      {isBrowser ? (
        <AreaField
          label="Origins of the pages"
          name="origins"
          rows={3}
          required
          placeholder="https://app.example.com"
          fault={faultAt(faults, '/origins')}
          hint="One a line, up to 20."
        />
      ) : (
        <ScopeBoxes
          chosen={chosen}
          onChange={setChosen}
          allowed={allowed ?? null}
          fault={faultAt(faults, '/scopes')}
        />
      )}
      <EnvironmentField fault={faultAt(faults, '/environment')} />
      <SelectField
        label="Ends"
        name="expiry"
        defaultValue="0"
        options={expiries}
        fault={faultAt(faults, '/expires_at')}
      />
      {error !== undefined && <Fault error={error} />}
      <Button type="submit" look="primary" disabled={isRunning}>
        {isRunning ? 'Creating…' : 'Create the key'}
      </Button>
    </form>
  )
}

/** The environment of a key: one of the project's list, or any if the project has no list. */
function EnvironmentField({ fault }: { fault: string | undefined }) {
  const environments = useProject()?.environments
  const hint = 'Data without an environment of its own gets this one.'
  if (!environments) {
    return <TextField label="Environment" name="environment" hint={hint} fault={fault} />
  }
  const options = [['', 'none'] as const, ...environments.map((each) => [each, each] as const)]
  return (
    <SelectField
      label="Environment"
      name="environment"
      hint={hint}
      fault={fault}
      options={options}
    />
  )
}

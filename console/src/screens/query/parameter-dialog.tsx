import { useState } from 'react'
import type { QueryParameter, SavedQuery } from '../../api/schema.gen.d.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { AreaField, SelectField, TextField } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import ui from '../../ui/ui.module.css'
import { readParameters } from './saved-body.ts'
import { writeValue } from './values.ts'

/** Asks for the parameters of a saved query before it runs. */
export function ParameterDialog({
  saved: { name, parameters },
  onClose,
  onRun,
}: {
  saved: SavedQuery
  onClose: () => void
  onRun: (values: Record<string, unknown>) => void
}) {
  const first = parameters.map((each) => [each.name, writeValue(each.default) ?? ''] as const)
  const [typed, setTyped] = useState<Record<string, string>>(Object.fromEntries(first))
  const [faults, setFaults] = useState<Record<string, string>>({})
  const run = () => {
    const { values, wrong } = readParameters(parameters, typed)
    setFaults(wrong)
    if (Object.keys(wrong).length === 0) onRun(values)
  }
  return (
    <Dialog title={`Run ${name}`} open onClose={onClose}>
      <form
        className={ui.stack}
        onSubmit={(event) => {
          event.preventDefault()
          run()
        }}
      >
        {parameters.map((parameter) => (
          <ParameterField
            key={parameter.name}
            parameter={parameter}
            value={typed[parameter.name] ?? ''}
            fault={faults[parameter.name]}
            onChange={(text) => setTyped({ ...typed, [parameter.name]: text })}
          />
        ))}
        <div className={ui.row}>
          <Button type="submit" look="primary">
            Run
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  )
}

function ParameterField({
  parameter: { name, type, required },
  value,
  fault,
  onChange,
}: {
  parameter: QueryParameter
  value: string
  fault: string | undefined
  onChange: (text: string) => void
}) {
  const about = {
    label: name,
    hint: `${type}${required ? ', required' : ''}`,
    fault,
    value,
    onChange: (event: { target: { value: string } }) => onChange(event.target.value),
  }
  if (type === 'texts') return <AreaField {...about} rows={3} placeholder="One value a line" />
  if (type !== 'boolean') return <TextField {...about} />
  return (
    <SelectField
      {...about}
      options={[
        ['', 'no value'],
        ['true', 'yes'],
        ['false', 'no'],
      ]}
    />
  )
}

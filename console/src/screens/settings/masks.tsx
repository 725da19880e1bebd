import type { Fault } from '../../api/problem.ts'
import { faultAt, SelectField, TextField } from '../../ui/fields.tsx'
import { Button } from '../../ui/parts.tsx'
import ui from '../../ui/ui.module.css'
import type { MaskDraft } from './capture-draft.ts'

const masks_max = 50

/** The masks of a policy: each replaces matches of a pattern, or values of keys. */
export function Masks({
  masks,
  isAdmin,
  faults,
  onChange,
}: {
  masks: MaskDraft[]
  isAdmin: boolean
  faults: readonly Fault[]
  onChange: (masks: MaskDraft[]) => void
}) {
  const add = () => {
    const id = Math.max(-1, ...masks.map((each) => each.id)) + 1
    onChange([...masks, { id, name: '', by: 'pattern', pattern: '', keys: '', replacement: '' }])
  }
  return (
    <section className={ui.stack} aria-label="Masks">
      <h2>Masks</h2>
      {masks.length === 0 && <p className={ui.soft}>None. Contents are stored unchanged.</p>}
      {masks.map((mask, at) => (
        <Mask
          key={mask.id}
          mask={mask}
          title={`Mask ${at + 1}`}
          isAdmin={isAdmin}
          faultOf={(field) => faultAt(faults, `/masks/${at}/${field}`)}
          onChange={(to) => onChange(masks.map((each) => (each.id === mask.id ? to : each)))}
          onRemove={() => onChange(masks.filter(({ id }) => id !== mask.id))}
        />
      ))}
      <div>
        <Button disabled={!isAdmin || masks.length >= masks_max} onClick={add}>
          Add a mask
        </Button>
      </div>
    </section>
  )
}

function Mask({
  mask,
  title,
  isAdmin,
  faultOf,
  onChange,
  onRemove,
}: {
  mask: MaskDraft
  title: string
  isAdmin: boolean
  faultOf: (field: string) => string | undefined
  onChange: (mask: MaskDraft) => void
  onRemove: () => void
}) {
  const set = (field: 'name' | 'pattern' | 'keys' | 'replacement') => ({
    value: mask[field],
    disabled: !isAdmin,
    onChange: ({ target }: { target: { value: string } }) =>
      onChange({ ...mask, [field]: target.value }),
    fault: faultOf(field),
  })
  return (
    <fieldset className={ui.choices}>
      <legend>{title}</legend>
      <div className={ui.row} style={{ alignItems: 'end' }}>
        <TextField label="Name" required {...set('name')} />
        <SelectField
          label="Masks"
          value={mask.by}
          disabled={!isAdmin}
          options={[
            ['pattern', 'text that matches a pattern'],
            ['keys', 'values of keys'],
          ]}
          onChange={({ target }) => onChange({ ...mask, by: target.value as 'keys' })}
        />
        {mask.by === 'pattern' ? (
          <TextField label="Pattern (RE2)" required {...set('pattern')} />
        ) : (
          <TextField label="Keys, with commas" required {...set('keys')} />
        )}
        <TextField
          label="Text in its place"
          placeholder={`[masked:${mask.name}]`}
          {...set('replacement')}
        />
        <Button disabled={!isAdmin} aria-label={`Remove ${title.toLowerCase()}`} onClick={onRemove}>
          Remove
        </Button>
      </div>
    </fieldset>
  )
}

import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { type Fault as FieldFault, faultsOf } from '../../api/problem.ts'
import type { CapturePolicy } from '../../api/schema.gen.d.ts'
import { AreaField, faultAt, SelectField, TextField } from '../../ui/fields.tsx'
import { Badge, Button, Time } from '../../ui/parts.tsx'
import { Fault, Loaded } from '../../ui/states.tsx'
import { LongText } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import {
  type CaptureDraft,
  draftOf,
  explainPolicy,
  type MaskDraft,
  toRequest,
} from './capture-draft.ts'
import { useWrite } from './own-project.ts'
import { SavedForm } from './saved-form.tsx'

const path = '/api/v2/observability/capture-policy'

/** The capture policy: the contents that are recorded of calls and spans. */
export function Capture({ isAdmin }: { isAdmin: boolean }) {
  const policy = api.useQuery('get', path)
  return (
    <Loaded query={policy} what="Reading the capture policy">
      {(stored) => (
        <Editor
          key={stored.version}
          stored={stored}
          isAdmin={isAdmin}
          reload={() => void policy.refetch()}
        />
      )}
    </Loaded>
  )
}

const contents = [
  ['full', 'everything'],
  ['metadata_only', 'calls without their contents'],
  ['off', 'nothing'],
] as const

function Editor({
  stored,
  isAdmin,
  reload,
}: {
  stored: CapturePolicy
  isAdmin: boolean
  reload: () => void
}) {
  const [draft, setDraft] = useState(draftOf(stored))
  const write = useWrite('The capture policy is saved. All processes follow within half a minute.')
  const faults = faultsOf(write.error)
  const setMasks = (masks: MaskDraft[]) => setDraft({ ...draft, masks })
  return (
    <SavedForm
      what="policy"
      write={write}
      mayChange={isAdmin}
      reload={reload}
      save={() =>
        call.PUT(path, {
          params: { header: { 'If-Match': `"${stored.version}"` } },
          body: toRequest(draft),
        })
      }
    >
      <SelectField
        label="Record"
        value={draft.content}
        disabled={!isAdmin}
        options={contents}
        onChange={({ target }) => setDraft({ ...draft, content: target.value as 'full' })}
      />
      <TextField
        label="Share of traces to keep, in percent"
        type="number"
        min={0}
        max={100}
        step="any"
        required
        value={draft.percent}
        disabled={!isAdmin}
        onChange={({ target }) => setDraft({ ...draft, percent: target.value })}
        fault={faultAt(faults, '/sample_rate')}
      />
      <Masks masks={draft.masks} isAdmin={isAdmin} faults={faults} onChange={setMasks} />
      <section className={ui.notice} aria-label="What is stored">
        <ul>
          {explainPolicy(draft).map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </section>
      <CapturePreview draft={draft} />
      {stored.updated_at !== null && (
        <p className={ui.soft}>
          Changed <Time at={stored.updated_at} ago />, version {stored.version}.
        </p>
      )}
    </SavedForm>
  )
}

const example = '{"messages":[{"role":"user","content":"My card is 4111 1111 1111 1111"}]}'

/** A preview of the parts of a text that the edited policy would store. Neither is saved. */
function CapturePreview({ draft }: { draft: CaptureDraft }) {
  const [text, setText] = useState(example)
  const preview = api.useMutation('post', '/api/v2/observability/capture-policy/preview')
  const { data, error, isPending } = preview
  return (
    <section className={ui.stack} aria-label="Preview">
      <AreaField
        label="Try it on a text"
        rows={3}
        value={text}
        maxLength={20_000}
        onChange={({ target }) => setText(target.value)}
        hint="An input or output of a call, as text or JSON."
      />
      <div>
        <Button
          disabled={isPending}
          onClick={() => preview.mutate({ body: { policy: toRequest(draft), text } })}
        >
          {isPending ? 'Masking…' : 'Show what is stored'}
        </Button>
      </div>
      {error !== null && <Fault error={error} />}
      {data !== undefined && (
        <div className={ui.box} role="status">
          {data.text === null ? (
            'Nothing of this text is stored.'
          ) : (
            <>
              <Badge tone={data.masked ? 'warn' : undefined}>
                {data.masked ? 'masked' : 'unchanged'}
              </Badge>
              <LongText text={data.text} mono />
            </>
          )}
        </div>
      )}
    </section>
  )
}

const masks_max = 50

/** The masks of a policy: each replaces matches of a pattern, or values of keys. */
function Masks({
  masks,
  isAdmin,
  faults,
  onChange,
}: {
  masks: MaskDraft[]
  isAdmin: boolean
  faults: readonly FieldFault[]
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

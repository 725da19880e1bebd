import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import type { CapturePolicy } from '../../api/schema.gen.d.ts'
import { faultAt, SelectField, TextField } from '../../ui/fields.tsx'
import { Time } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { draftOf, explainPolicy, type MaskDraft, toRequest } from './capture-draft.ts'
import { CapturePreview } from './capture-preview.tsx'
import { Masks } from './masks.tsx'
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

import { useState } from 'react'
import { api } from '../../api/client.ts'
import { AreaField } from '../../ui/fields.tsx'
import { Badge, Button } from '../../ui/parts.tsx'
import { Fault } from '../../ui/states.tsx'
import { LongText } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { type CaptureDraft, toRequest } from './capture-draft.ts'

const example = '{"messages":[{"role":"user","content":"My card is 4111 1111 1111 1111"}]}'

/** A preview of the parts of a text that the edited policy would store. Neither is saved. */
export function CapturePreview({ draft }: { draft: CaptureDraft }) {
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

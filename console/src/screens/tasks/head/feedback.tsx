import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { faultsOf } from '../../../api/problem.ts'
import type { Feedback, FeedbackList } from '../../../api/schema.gen.d.ts'
import { useHasRole } from '../../../session/project.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { AreaField, faultAt } from '../../../ui/fields.tsx'
import { Form } from '../../../ui/form.tsx'
import { Badge, Button, Time } from '../../../ui/parts.tsx'
import { Loaded } from '../../../ui/states.tsx'
import { LongText, Plain } from '../../../ui/text.tsx'
import { notify } from '../../../ui/toasts.tsx'
import ui from '../../../ui/ui.module.css'
import css from './head.module.css'

type Thumbs = 'up' | 'down'

const shown_max = 50

/** Votes on the task: two buttons, and who said what and when. */
export function FeedbackBox({ task_id }: { task_id: string }) {
  const [asked, setAsked] = useState<Thumbs>()
  const canVote = useHasRole('editor')
  const query = api.useQuery('get', '/api/v1/tasks/{task_id}/feedback', {
    params: { path: { task_id }, query: { limit: shown_max, order: 'desc' } },
  })
  const reason = canVote ? undefined : 'Needs the role editor'
  return (
    <section className={ui.stack} aria-label="Feedback">
      <div className={ui.row}>
        <Button small disabled={!canVote} title={reason} onClick={() => setAsked('up')}>
          <span aria-hidden="true">▲</span> Good
        </Button>
        <Button small disabled={!canVote} title={reason} onClick={() => setAsked('down')}>
          <span aria-hidden="true">▼</span> Bad
        </Button>
        {!canVote && <span className={ui.soft}>{reason}</span>}
      </div>
      <Loaded query={query} what="Reading feedback">
        {(list) => <Items of={list} />}
      </Loaded>
      {asked !== undefined && (
        <Vote task_id={task_id} thumbs={asked} onClose={() => setAsked(undefined)} />
      )}
    </section>
  )
}

function Items({ of: { feedback, total } }: { of: FeedbackList }) {
  const [isWhole, setWhole] = useState(false)
  const all = feedback.filter(({ state }) => state !== 'withdrawn')
  if (all.length === 0) return null
  const few = isWhole ? all : all.slice(0, 2)
  return (
    <>
      <ul className={css.votes}>
        {few.map((item) => (
          <Item key={item.feedback_id} of={item} />
        ))}
      </ul>
      {all.length > few.length && (
        <div>
          <Button small look="plain" onClick={() => setWhole(true)}>
            Show all {total} items of feedback
          </Button>
        </div>
      )}
    </>
  )
}

function Item({ of }: { of: Feedback }) {
  const { thumbs, rating, sentiment, comment, correction, labels, at } = of
  const who = of.user_id ?? of.author ?? of.created_by
  return (
    <li>
      <div className={ui.row}>
        <Badge
          tone={sentiment === 'negative' ? 'bad' : sentiment === 'positive' ? 'good' : undefined}
        >
          {thumbs !== null && (thumbs === 'up' ? 'good' : 'bad')}
          {thumbs === null && (rating === null ? (sentiment ?? 'note') : `${rating} of 5`)}
        </Badge>
        <span className={ui.soft}>
          <Plain>{who}</Plain> ({of.source.replace('_', ' ')}) · <Time at={at} ago />
        </span>
        {labels.map((label) => (
          <Badge key={label}>
            <Plain>{label}</Plain>
          </Badge>
        ))}
      </div>
      {comment !== null && <LongText text={comment} />}
      {correction !== null && (
        <div>
          Correct answer: <LongText text={correction} />
        </div>
      )}
    </li>
  )
}

function Vote({
  task_id,
  thumbs,
  onClose,
}: {
  task_id: string
  thumbs: Thumbs
  onClose: () => void
}) {
  const client = useQueryClient()
  const vote = api.useMutation('post', '/api/v1/tasks/{task_id}/feedback', {
    onSuccess: () => {
      notify('Feedback saved')
      onClose()
      void client.invalidateQueries({ queryKey: ['get', '/api/v1/tasks/{task_id}/feedback'] })
      void client.invalidateQueries({ queryKey: ['get', '/api/v1/tasks/{task_id}'] })
    },
  })
  const faults = faultsOf(vote.error)
  const submit = (form: FormData) => {
    const [comment, correction] = ['comment', 'correction'].map((name) =>
      String(form.get(name) ?? '').trim(),
    )
    const body = { thumbs, ...(comment && { comment }), ...(correction && { correction }) }
    vote.mutate({ params: { path: { task_id } }, body })
  }
  return (
    <Dialog title={thumbs === 'up' ? 'What was good?' : 'What was bad?'} open onClose={onClose}>
      <Form
        of={vote}
        action="Save"
        onSubmit={submit}
        beside={<Button onClick={onClose}>Cancel</Button>}
      >
        <AreaField
          label="Comment (optional)"
          name="comment"
          rows={3}
          maxLength={10_000}
          fault={faultAt(faults, '/comment')}
        />
        {thumbs === 'down' && (
          <AreaField
            label="The correct answer (optional)"
            name="correction"
            rows={3}
            maxLength={10_000}
            fault={faultAt(faults, '/correction')}
          />
        )}
      </Form>
    </Dialog>
  )
}

import type { ObservationDraft } from '../../../../model/ingest-records.ts'

/** What a span can say for the others of its trace. */
type Words = Pick<
  ObservationDraft,
  | 'task_id'
  | 'task_name'
  | 'task_implicit'
  | 'conversation_id'
  | 'conversation_external_id'
  | 'user_id'
>

/** How far up a word is looked for; what is deeper takes the first word of its trace. */
const steps_max = 64

/** Which words a span says, as bits: task, its name, conversation, user. */
export function wordsSaid(draft: ObservationDraft): number {
  return (
    (draft.task_implicit ? 0 : 1) |
    (draft.task_name === '' ? 0 : 2) |
    (draft.conversation_id === '' ? 0 : 4) |
    (draft.user_id === '' ? 0 : 8)
  )
}

/**
 * Gives the spans of one trace that name no task, conversation or user those of their next ancestor
 * in the request, else of the first span that names one. A task's name goes with its id.
 */
export function shareWords(drafts: readonly ObservationDraft[]): void {
  const own = new Map(drafts.map((draft) => [draft.observation_id, wordsOf(draft)]))
  share(drafts, own, { isSaid: hasTask, give: giveTask })
  share(drafts, own, { isSaid: hasName, give: giveName })
  share(drafts, own, { isSaid: hasTalk, give: giveTalk })
  share(drafts, own, { isSaid: hasUser, give: giveUser })
}

type Kept = Words & { parent: string }
type Sharing = {
  isSaid: (words: Words) => boolean
  give: (draft: ObservationDraft, words: Words) => void
}

function share(
  drafts: readonly ObservationDraft[],
  own: ReadonlyMap<string, Kept>,
  { isSaid, give }: Sharing,
): void {
  const first = drafts.find(isSaid)
  if (first === undefined) return
  const words = own.get(first.observation_id) ?? first
  for (const draft of drafts) {
    if (!isSaid(draft)) give(draft, above(draft, own, isSaid) ?? words)
  }
}

function above(
  draft: ObservationDraft,
  own: ReadonlyMap<string, Kept>,
  isSaid: Sharing['isSaid'],
): Kept | undefined {
  let at = draft.parent_observation_id
  for (let step = 0; step < steps_max && at !== ''; step++) {
    const words = own.get(at)
    if (words === undefined || isSaid(words)) return words
    at = words.parent
  }
  return undefined
}

function wordsOf(draft: ObservationDraft): Kept {
  const { task_id, task_name, task_implicit, user_id } = draft
  const { conversation_id, conversation_external_id, parent_observation_id: parent } = draft
  const talk = { conversation_id, conversation_external_id }
  return { task_id, task_name, task_implicit, user_id, ...talk, parent }
}

const hasTask = (words: Words) => !words.task_implicit
const hasName = (words: Words) => words.task_name !== ''
const hasTalk = (words: Words) => words.conversation_id !== ''
const hasUser = (words: Words) => words.user_id !== ''

function giveTask(draft: ObservationDraft, words: Words): void {
  draft.task_id = words.task_id
  draft.task_implicit = false
  if (words.task_name !== '') draft.task_name = words.task_name
}

/** Only within one task: the name of another would rename this one. */
function giveName(draft: ObservationDraft, words: Words): void {
  if (words.task_id === draft.task_id) draft.task_name = words.task_name
}

function giveTalk(draft: ObservationDraft, words: Words): void {
  draft.conversation_id = words.conversation_id
  draft.conversation_external_id = words.conversation_external_id
}

function giveUser(draft: ObservationDraft, words: Words): void {
  draft.user_id = words.user_id
}

import type { operations } from '../../api/schema.gen.d.ts'
import {
  type FilterFault,
  type FilterField,
  parseFilter,
  textField,
} from '../../ui/filter-language.ts'

/** Filters of the list of conversations, as the API names them. */
type ConversationQuery = Pick<
  NonNullable<operations['listConversations']['parameters']['query']>,
  'user_id' | 'model'
>

export const conversationFields: readonly FilterField<ConversationQuery>[] = [
  textField('user', 'User', (user_id) => ({ user_id })),
  textField('model', 'A model that answered', (model) => ({ model })),
]

/** Reads a filter of conversations. They have no names, so words without a field are faults. */
export function parseConversationFilter(text: string): {
  query: ConversationQuery
  faults: FilterFault[]
} {
  const { query, words, faults } = parseFilter<ConversationQuery>(conversationFields, text)
  const message = 'Conversations are found by user:… or model:…'
  const at = text.indexOf(words)
  return { query, faults: words === '' ? faults : [...faults, { at, token: words, message }] }
}

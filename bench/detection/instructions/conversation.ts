/** An instruction that a person marked in a conversation. */
export type LabelledInstruction = {
  /** A part of the message. */
  text: string
  /** Index of the message. */
  message: number
  kind: string
  params: Readonly<Record<string, unknown>>
  scope: 'lasting' | 'until' | 'one_turn'
  /** Index of the message that lifts or replaces it. */
  ended_by: number | null
}

/** A conversation with its instructions, and the indexes of those that an answer breaks. */
export type LabelledConversation = {
  id: string
  style: string
  lang: string
  messages: readonly { role: 'system' | 'user' | 'assistant'; content: string }[]
  constraints: readonly LabelledInstruction[]
  broken: readonly number[]
}

import { isUtf8 } from 'node:buffer'
import { problem } from '../../../../kernel/problem.ts'
import type { RequestHeaders } from './request-headers.ts'

/** What the agent-context headers of a call say; empty where one did not come. */
export type CallContext = {
  task_id: string
  task_name: string
  conversation_id: string
  user_id: string
}

export const noContext: CallContext = {
  task_id: '',
  task_name: '',
  conversation_id: '',
  user_id: '',
}

/** A context header may have so many characters. */
export const contextCharacters_max = 256

/** Reads the agent-context headers. Throws `invalid_request` naming the header. */
export function contextOf(headers: RequestHeaders): CallContext {
  return {
    task_id: contextValue('X-Task-ID', headers.task_id),
    task_name: contextValue('X-Task-Name', headers.task_name),
    conversation_id: contextValue('X-Conversation-ID', headers.conversation_id),
    user_id: contextValue('X-User-ID', headers.user_id),
  }
}

const printableAscii = /^[\x20-\x7e]*$/

function contextValue(name: string, sent: string): string {
  if (sent === '') return ''
  const value = (printableAscii.test(sent) ? sent : decoded(sent)).trim()
  if (value.length > contextCharacters_max) {
    throw invalid(
      name,
      `got ${value.length} characters, at most ${contextCharacters_max} are taken`,
    )
  }
  if (/\p{Cc}/u.test(value)) throw invalid(name, 'it holds a control character')
  return value
}

function invalid(name: string, fault: string) {
  const detail = `${name}: ${fault}`
  return problem('invalid_request', { detail, faults: [{ pointer: name, detail }] })
}

/** Node reads header bytes as Latin-1; text that is valid UTF-8 was meant as that. */
function decoded(latin1: string): string {
  const bytes = Buffer.from(latin1, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : latin1
}

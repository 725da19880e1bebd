/** Why a statement, an envelope or a key was refused. */
export type StatementFaultCode =
  | 'envelope_too_large'
  | 'not_an_envelope'
  | 'bad_base64'
  | 'no_signature'
  | 'unknown_key'
  | 'bad_signature'
  | 'unexpected_payload_type'
  | 'not_a_statement'
  | 'bad_keys'

/** A statement, an envelope or a key is refused; the message says what was expected. */
export class StatementFault extends Error {
  override readonly name = 'StatementFault'
  readonly code: StatementFaultCode

  constructor(code: StatementFaultCode, message: string) {
    super(message)
    this.code = code
  }
}

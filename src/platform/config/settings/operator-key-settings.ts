import { secret, text } from '../setting.ts'

/** The key that the operator of a cluster signs in with; the service takes the same one. */
export const operatorKeySettings = {
  operator_key: secret({
    min_characters: 47,
    reason:
      'Key of the operator, `lt_op_…`: roles `migrate` and `all` let it in, the operator sends it. Role `all` makes one in `operator-key` of its data directory.',
  }),
  operator_key_file: text({
    unit: 'path',
    reason: 'A file that holds the key of the operator, in place of the variable.',
  }),
}

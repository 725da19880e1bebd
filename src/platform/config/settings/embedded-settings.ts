import { flag, text } from '../setting.ts'

/** Role `all` on one machine. */
export const embeddedSettings = {
  data_directory: text({
    unit: 'path',
    default: './data',
    reason: 'Everything that role `all` keeps: both stores, the queue, generated secrets.',
  }),
  demo: flag({
    unit: 'flag',
    default: true,
    reason: 'Whether the first start sends a short sample agent run to a scripted provider.',
  }),
}

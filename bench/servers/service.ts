/** The unmodified service. */
import { serve } from '../support/serve.ts'

await serve()

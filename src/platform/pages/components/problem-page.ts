/** The page for errors that belong to no form. */
import type { AppError } from '../../../core/app-error.ts'
import { httpErrors } from '../../http/http-errors.ts'
import { html } from '../html.ts'
import { formExpired, type Page } from '../pages.ts'

/** Longer texts for people than those of the API. */
const words: Readonly<Record<string, { heading: string; text: string }>> = {
  [httpErrors.forbidden().code]: {
    heading: 'You may not do that',
    text: 'It needs a role that you do not have. An administrator can give it to you.',
  },
  [httpErrors.notFound().code]: {
    heading: 'There is nothing here',
    text: 'The address may be mistyped, or what was there is gone.',
  },
  [formExpired().code]: {
    heading: 'This form has expired',
    text: 'Nothing was changed. Load the page again and retry. If it happens again, allow cookies for this site.',
  },
}

const headings: Readonly<Record<number, string>> = {
  404: 'There is nothing here',
  429: 'Too many attempts',
  500: 'Something went wrong',
  503: 'Try again in a moment',
}

export function problemPage({ status, code, message }: AppError): Page {
  const { heading, text } = words[code] ?? {
    heading: headings[status] ?? 'That did not work',
    text: `${message.replace(/\.$/, '')}.`,
  }
  return {
    title: heading,
    content: html`<section class="narrow card">
<h1>${heading}</h1>
<p>${text}</p>
<p><a class="button" href="/console"${code === formExpired().code && html` data-expired`}>Back to the console</a></p>
</section>`,
  }
}

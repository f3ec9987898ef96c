/** The documents that the lessons follow. The lessons cite them by number; the page shows their titles. */

/** @typedef {{ id: string, title: string, short: string, href: string, link: string, about: string }} Document */

const BOOK = 'https://github.com/rasbt/LLMs-from-scratch/tree/main/ch03';

/** @type {readonly Document[]} */
export const DOCUMENTS = [
  {
    id: '000',
    title: 'Multi-Head Attention: Seeing the World from Multiple Perspectives',
    short: 'Multi-Head Attention',
    href: BOOK,
    link: 'The book’s code',
    about: 'A notebook after chapter 3 of Build a Large Language Model (From Scratch).',
  },
  {
    id: '001',
    title: 'Exercises 3.1 to 3.3',
    short: 'Exercises of chapter 3',
    href: BOOK,
    link: 'The book’s code',
    about: 'Solutions to the exercises of that chapter.',
  },
  {
    id: '002',
    title: '3.6 Extending Single-Head Attention to Multi-Head Attention',
    short: 'Section 3.6',
    href: BOOK,
    link: 'The book’s code',
    about: 'The last section of that chapter, with its listings and figures.',
  },
  {
    id: '003',
    title: 'Chapter 10: Attention Is All You Need',
    short: 'Attention Is All You Need',
    href: 'https://arxiv.org/abs/1706.03762',
    link: 'The paper',
    about: 'A notebook after Vaswani et al., 2017, from one head to a whole Transformer block.',
  },
  {
    id: '004',
    title: 'Section 3.6 – Multi-Head Attention',
    short: 'Notes on section 3.6',
    href: BOOK,
    link: 'The book’s code',
    about: 'Notes on the wrapper and the fused class, and why the second is used.',
  },
  {
    id: 'Olsson 2022',
    title: 'In-context Learning and Induction Heads',
    short: 'Olsson et al. 2022',
    href: 'https://transformer-circuits.pub/2022/in-context-learning-and-induction-heads/index.html',
    link: 'The article',
    about: 'What induction heads do in models of many sizes. Only the lesson on them follows it.',
  },
  {
    id: 'Elhage 2021',
    title: 'A Mathematical Framework for Transformer Circuits',
    short: 'Elhage et al. 2021',
    href: 'https://transformer-circuits.pub/2021/framework/index.html',
    link: 'The article',
    about:
      'Heads as parts of a sum, and where induction heads were found. Of the lessons only “Which head did it?” follows this article and the next two papers.',
  },
  {
    id: 'Wang 2022',
    title: 'Interpretability in the Wild: a Circuit for Indirect Object Identification',
    short: 'Wang et al. 2022',
    href: 'https://arxiv.org/abs/2211.00593',
    link: 'The paper',
    about: 'A circuit of GPT-2, found by ablation and by patching.',
  },
  {
    id: 'Rushing 2024',
    title: 'Explorations of Self-Repair in Language Models',
    short: 'Rushing & Nanda 2024',
    href: 'https://arxiv.org/abs/2402.15390',
    link: 'The paper',
    about:
      'Why a model loses less without a head than the head wrote; the final norm is one reason.',
  },
  {
    id: 'Rumelhart 1986',
    title: 'Learning representations by back-propagating errors',
    short: 'Rumelhart et al. 1986',
    href: 'https://www.nature.com/articles/323533a0',
    link: 'The article',
    about: 'How gradients go back through a network. Only the lesson on training follows it.',
  },
];

/** The address of a document in the list of documents. @param {Document} document */
export const addressOf = ({ id }) => `document-${id.replaceAll(' ', '-')}`;

/**
 * What a step cites.
 *
 * @param {string} from such as `002, listing 3.4; 004, naïve wrapper`
 * @returns {{ document: Document, place: string }[]}
 */
export const citations = (from) =>
  from
    .split('; ')
    .filter(Boolean)
    .map((one) => {
      const [id, ...place] = one.split(', ');
      const document = DOCUMENTS.find((known) => known.id === id);
      if (!document) throw new Error(`no document is called "${id}"`);
      return { document, place: place.join(', ') };
    });

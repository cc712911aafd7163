package docs

import pages "aiperf/docs"

// Render is render.
var Render = render

// Search returns the pages of the places that a search finds, the best first.
func Search(words []string) (names []string, err error) {
	list, err := readPages(pages.Pages)
	if err != nil {
		return nil, err
	}
	for _, p := range search(list, words) {
		names = append(names, p.page.name)
	}
	return names, nil
}
